"""The optional local model: a server of the person's own that speaks Ollama's API, asked over loopback.

`server_address` says which address may be called at all, `conversation` lays out a talk and finds its citations,
`prompts` fences memory text and reads the short answers, `distillate` asks about episodes and reads what came back,
`ollama` calls the server, `model_windows` knows how much a model reads at once. Everything works without this room;
nothing it returns is more than a proposal (`core.belief.extract.model_proposals` checks it). Must not do: open a
connection beyond this machine unless the person confirmed it, send a text whose security tier is not `cleartext` (to a
server of this machine only where the person allows it for that conversation), follow a redirect or a proxy, keep or log
a text, retry by itself, start threads, or import the client library before a server answers.
"""
