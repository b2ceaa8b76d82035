/** Prompts for a password without echo; null without a terminal. */
export async function askSecret(question: string): Promise<string | null> {
  const { stdin, stderr } = process
  if (!stdin.isTTY) return null
  stderr.write(`${question}: `)
  stdin.setRawMode(true)
  stdin.setEncoding('utf8')
  try {
    return await readHidden(stdin)
  } finally {
    stdin.setRawMode(false)
    stdin.pause()
    stderr.write('\n')
  }
}

async function readHidden(input: AsyncIterable<string>): Promise<string> {
  let typed = ''
  for await (const keys of input) {
    for (const key of keys) {
      if (key === '\r' || key === '\n') return typed
      // In raw mode, the terminal does not handle Ctrl-C and Ctrl-D.
      if (key === '\u0003' || key === '\u0004') process.exit(130)
      typed = key === '\u007f' || key === '\b' ? typed.slice(0, -1) : typed + key
    }
  }
  return typed
}
