import { createInterface } from 'node:readline/promises'
import { messageOf } from '../errors.ts'
import { codeOfSignal } from './stop-signals.ts'

const INTERRUPTED = codeOfSignal('SIGINT')

/** Prompts for a line; null without a terminal. */
export async function askLine(question: string): Promise<string | null> {
  if (!process.stdin.isTTY) return null
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  const end = () => {
    process.stderr.write('\n')
    process.exit(INTERRUPTED)
  }
  // Ctrl-C, and Ctrl-D on an empty line.
  prompt.once('SIGINT', end).once('close', end)
  const answer = await prompt.question(`${question}: `)
  prompt.off('close', end).close()
  return answer.trim()
}

/** Prompts for yes or no, where Enter means no; null without a terminal. */
export async function askYesNo(question: string): Promise<boolean | null> {
  for (;;) {
    const answer = await askLine(`${question} [y/N]`)
    if (answer === null) return null
    if (/^(?:n|no|)$/i.test(answer)) return false
    if (/^(?:y|yes)$/i.test(answer)) return true
    console.error('Enter y or n.')
  }
}

/** Prompts until the answer is valid, and explains why one is not; null without a terminal. */
export async function askUntilValid(
  ask: () => Promise<string | null>,
  validate: (answer: string) => void,
): Promise<string | null> {
  for (;;) {
    const answer = await ask()
    if (answer === null) return null
    try {
      validate(answer)
      return answer
    } catch (error) {
      console.error(messageOf(error))
    }
  }
}

/** Prompts for a password without echo; null without a terminal. */
export async function askSecret(question: string): Promise<string | null> {
  const { stdin, stderr } = process
  if (!stdin.isTTY) return null
  stderr.write(`${question}: `)
  stdin.setRawMode(true)
  stdin.setEncoding('utf8')
  try {
    return await readHidden()
  } finally {
    stdin.setRawMode(false)
    stdin.pause()
    stderr.write('\n')
  }
}

/** Reads keys up to Enter. What was typed beyond it stays for the next prompt. */
function readHidden(): Promise<string> {
  const { stdin } = process
  let typed = ''
  return new Promise((resolve) => {
    const onKeys = (keys: string) => {
      for (const [index, key] of Array.from(keys).entries()) {
        if (key === '\r' || key === '\n') {
          stdin.off('data', onKeys)
          const rest = Array.from(keys)
            .slice(index + 1)
            .join('')
          if (rest) stdin.unshift(rest, 'utf8')
          return resolve(typed)
        }
        typed = afterKey(typed, key)
      }
    }
    // An earlier prompt has paused it.
    stdin.on('data', onKeys).resume()
  })
}

function afterKey(typed: string, key: string): string {
  // In raw mode, the terminal does not handle Ctrl-C, Ctrl-D and Ctrl-U.
  if (key === '\u0003' || key === '\u0004') {
    process.stderr.write('\n')
    process.exit(INTERRUPTED)
  }
  if (key === '\u0015') return ''
  if (key === '\u007f' || key === '\b') return Array.from(typed).slice(0, -1).join('')
  return typed + key
}
