"""A build in pieces that many workers finish, each piece committed once, nothing per row held."""
