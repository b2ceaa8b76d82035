import type { Socket } from 'node:net'
import { clipText } from '../../clip-text.ts'
import { Fault } from '../../errors.ts'
import { onAbort } from '../abort.ts'

/**
 * A line of the text protocols, or a message of the binary ones. IMAP greetings have no limit (RFC
 * 9051, 7.1), and mail servers exceed the 512 bytes of RFC 5321, 4.5.3.1.5.
 */
const MAX_UNIT_BYTES = 64 * 1024
const MAX_LINES = 50

/** A conversation on a connection before TLS, one unit after another. */
export type Conversation = {
  send(words: string | Uint8Array): void
  /** Waits for the next unit. `lengthOf` returns its length, or null while it is unknown. */
  readUnit(lengthOf: (received: Buffer) => number | null): Promise<Buffer>
  /** The next line without its end. Blank lines, which some servers add, are skipped. */
  line(): Promise<string>
  /** Lines up to and with the first that `isLast`. */
  lines(isLast: (line: string) => boolean): Promise<string[]>
  /** Whether the server has sent more than was taken. */
  hasMore(): boolean
  /** Hands the socket back. */
  end(): void
}

/**
 * @throws Fault (from its methods) `upstream_unreachable`, `upstream_timeout`, `upstream_rejected`
 */
export function startConversation(socket: Socket, signal: AbortSignal): Conversation {
  let received: Buffer = Buffer.alloc(0)
  let fault: Fault | undefined
  let wake = Promise.withResolvers<void>()

  const hear = (bytes: Buffer) => {
    received = Buffer.concat([received, bytes])
    wake.resolve()
  }
  const stop = (reason: Fault) => {
    fault ??= reason
    wake.resolve()
  }
  const onClose = () =>
    stop(new Fault('upstream_unreachable', 'The server closed the connection before TLS started.'))
  const leave = onAbort([signal], () => stop(tooSlow()))
  if (signal.aborted) stop(tooSlow())
  socket.on('data', hear).on('error', onClose).on('end', onClose)

  async function readUnit(lengthOf: (received: Buffer) => number | null): Promise<Buffer> {
    for (;;) {
      const length = lengthOf(received)
      if ((length ?? received.length) > MAX_UNIT_BYTES)
        throw upstreamRejected('The server sent more data than the protocol allows.')
      if (length !== null && length <= received.length) {
        const unit = received.subarray(0, length)
        received = received.subarray(length)
        return unit
      }
      if (fault) throw fault
      wake = Promise.withResolvers()
      await wake.promise
    }
  }

  async function line(): Promise<string> {
    for (;;) {
      const unit = await readUnit((bytes) => bytes.indexOf('\n') + 1 || null)
      const text = unit.toString().replace(/\r?\n$/, '')
      if (text !== '') return text
    }
  }

  return {
    send: (words) => void socket.write(words),
    readUnit,
    line,
    async lines(isLast) {
      const lines: string[] = []
      while (lines.length < MAX_LINES) {
        lines.push(await line())
        if (isLast(lines.at(-1) ?? '')) return lines
      }
      throw upstreamRejected('The server sent more data than the protocol allows.')
    },
    hasMore: () => received.length > 0,
    end() {
      leave()
      socket.off('data', hear).off('error', onClose).off('end', onClose)
    },
  }
}

function tooSlow(): Fault {
  return new Fault('upstream_timeout', 'The server did not start TLS in time.')
}

/**
 * The server rejected the request. Its text comes from outside: control characters are removed, and
 * it is shortened.
 */
export function upstreamRejected(sentence: string, words?: string, cause?: object): Fault {
  const clean = words && clipText(words, 200)
  return new Fault(
    'upstream_rejected',
    clean ? `${sentence} Server response: “${clean}”.` : sentence,
    { cause },
  )
}
