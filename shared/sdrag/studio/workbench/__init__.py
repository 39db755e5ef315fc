"""
The workbench: a page on this machine to write a policy with one's own documents.

In reading order: `gate` says who is let in, `bodies` what a request may bring and cost.
`app` has a method for each request, and the routes. What they answer with is in
`policy`, `documents` and `looking`. `serving` opens the port. The page is in `static`:
plain HTML, CSS and JavaScript.
"""
