import { createResponseParser } from '../../../net/imap/connection/response-parser.ts'

/** A literal of an APPEND: the text in front of it, and a sink for its bytes. */
type LiteralSink = { write(chunk: Buffer): void; end(): void }

export type Command = {
  tag: string
  /** In capitals, with `UID` in front where it has one. */
  verb: string
  /** The arguments, with `{}` for each literal of a message. */
  text: string
}

export type CommandEvents = {
  /** Called at each literal. Returns where its bytes go; null for a literal that is a name. */
  onLiteral: (before: string, size: number, isSynchronizing: boolean) => LiteralSink
  onCommand: (command: Command) => void
}

/**
 * Splits what a client sends into commands. Literals are passed on while they arrive. The client is
 * the engine of this process, so everything it sends is well formed.
 */
export function createCommandReader({ onLiteral, onCommand }: CommandEvents): {
  push(chunk: Buffer): void
} {
  let text = ''
  let sink: LiteralSink | null = null
  const parser = createResponseParser({
    segment(part, literal) {
      text += part
      if (literal === null) {
        const line = text
        text = ''
        onCommand(parse(line))
        return false
      }
      const isSynchronizing = !part.endsWith('+}')
      text = text.replace(/~?\{\d+\+?\}$/, '{}')
      sink = onLiteral(text, literal, isSynchronizing)
      return true
    },
    chunk: (bytes) => sink?.write(bytes),
    literalEnd: () => sink?.end(),
  })
  return parser
}

function parse(line: string): Command {
  const [, tag = '*', verb = '', text = ''] = /^(\S+) ((?:UID )?\S+)(?: (.*))?$/s.exec(line) ?? []
  return { tag, verb: verb.toUpperCase(), text }
}

/** Reads a mailbox name at the beginning of the arguments. Returns it and the rest. */
export function readName(text: string): [name: string, rest: string] {
  const quoted = /^"((?:[^"\\]|\\.)*)" ?(.*)$/s.exec(text)
  if (quoted) return [(quoted[1] ?? '').replace(/\\(.)/g, '$1'), quoted[2] ?? '']
  const [, atom = '', rest = ''] = /^(\S+) ?(.*)$/s.exec(text) ?? []
  return [atom, rest]
}
