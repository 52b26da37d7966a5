"""A command with a secret in every place where one can be."""

from common import equal, sandbox

handle = sandbox().run(
    "X=s3cret-argument; read line; echo s3cret-outp; exit 7",
    wait=False,
    env={"VARIABLE": "s3cret-variable"},
    close_input=False,
)
handle.send_input("s3cret-input\n")
result = handle.result
equal((result.stdout, result.exit_code), ("s3cret-outp\n", 7))
