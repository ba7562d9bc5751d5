"""Questions to a trace, one family a file: named functions from DataFrame to DataFrame, chained with
`transform`.
"""
