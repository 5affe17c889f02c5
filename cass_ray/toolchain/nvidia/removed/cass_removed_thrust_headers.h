// The folder thrust lies beside this header: whoever is given this one finds it.
#pragma once
