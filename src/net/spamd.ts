import { once } from 'node:events'
import { connect } from 'node:net'
import type { HostPort } from '../setting-values.ts'
import { onAbort } from './abort.ts'

const MAX_ANSWER_BYTES = 512 * 1024

export type SpamdAnswer = { code: number; headers: Map<string, string>; body: string }

/**
 * Asks a spamd for its report about a mail (`REPORT` of SPAMC/1.5).
 * @throws the error of the connection, or an error when the signal aborts
 */
export async function askSpamd(
  { address, port }: HostPort,
  mail: Buffer,
  signal: AbortSignal,
): Promise<SpamdAnswer> {
  signal.throwIfAborted()
  const socket = connect({ host: address, port })
  const leave = onAbort([signal], () => socket.destroy(new Error('It took too long.')))
  try {
    await once(socket, 'connect')
    socket.write(`REPORT SPAMC/1.5\r\nContent-length: ${mail.length}\r\n\r\n`)
    socket.end(mail)
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > MAX_ANSWER_BYTES) break
      chunks.push(chunk)
    }
    return readAnswer(Buffer.concat(chunks).toString('utf8'))
  } finally {
    leave()
    socket.destroy()
  }
}

function readAnswer(text: string): SpamdAnswer {
  const end = text.indexOf('\r\n\r\n')
  const [status = '', ...lines] = (end < 0 ? text : text.slice(0, end)).split('\r\n')
  const headers = new Map(
    lines.flatMap((line) => {
      const colon = line.indexOf(':')
      return colon < 0
        ? []
        : [[line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const]
    }),
  )
  const code = /^SPAMD\/[\d.]+ (\d+)/.exec(status)?.[1]
  if (code === undefined) throw new Error('The answer is not one of spamd.')
  return { code: Number(code), headers, body: end < 0 ? '' : text.slice(end + 4) }
}
