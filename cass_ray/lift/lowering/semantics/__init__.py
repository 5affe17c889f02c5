"""What SASS instructions do, by family; each module enters its forms in the table."""
