"""Looking at a data set's rows: reading some of them, and a browser for the terminal.

``rows`` reads single rows and summaries from Parquet files of any size, ``filters`` turns what a
person types into a condition, ``lines`` finds the source line of each instruction, and ``app`` with
``row_screen`` is the browser (package ``textual``).
"""
