import { join } from 'node:path'
import { until } from './fail2ban.ts'
import type { Machine } from './machine.ts'

/** `body` in base64. */
export type ListAnswer = {
  status: number
  headers: Record<string, string>
  body: string
  breakOff: boolean
}

export type ListServer = {
  url: string
  answerWith(body: string | Buffer, answer?: Partial<Omit<ListAnswer, 'body'>>): void
  /** Headers of each request. */
  requests(): Record<string, string>[]
}

/** Starts an HTTP server in the machine’s own network. */
export async function startListServer(machine: Machine): Promise<ListServer> {
  machine.start([process.execPath, join(import.meta.dirname, 'list-server.child.ts')])
  await until(() => machine.exists('/run/port') && machine.read('/run/port').endsWith('\n'))
  return {
    url: `http://127.0.0.1:${machine.read('/run/port').trim()}/list`,
    answerWith(body, { status = 200, headers = {}, breakOff = false } = {}) {
      const answer: ListAnswer = {
        status,
        headers,
        breakOff,
        body: Buffer.from(body).toString('base64'),
      }
      machine.write('/run/answer', JSON.stringify(answer))
    },
    requests: () =>
      machine
        .read('/run/requests')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
  }
}
