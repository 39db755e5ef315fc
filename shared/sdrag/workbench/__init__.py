"""
The workbench: a page on this machine to write a policy with one's own documents.

In reading order: `gate` says who is let in, `bodies` and `requests` what may be asked,
`limits` how much, `workers` does it on threads. `app` has the routes, `bench` a method
for each. What they answer with is one file each: `typed_policy`, `folder` and `loaded`
documents, `colouring`, `asking`, `linking`. `serving`
opens the port. The page is in `static`: plain HTML, CSS and JavaScript.
"""
