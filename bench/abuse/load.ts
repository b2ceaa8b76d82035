import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export type Load = {
  seconds: number
  times: number[]
  statuses: Map<number, number>
  bodies: string[]
}

/**
 * Sends requests over a number of kept-alive connections, each after the previous response. It
 * reads only status and length of a response, so that on two processors the server is measured, not
 * the client.
 * @param requestOf the bytes of the n-th request
 */
export async function load(
  url: string,
  {
    connections,
    requests,
    requestOf,
    keepBodies = false,
  }: {
    connections: number
    requests: number
    requestOf: (n: number) => string
    keepBodies?: boolean
  },
): Promise<Load> {
  const { hostname, port } = new URL(url)
  const result: Load = { seconds: 0, times: [], statuses: new Map(), bodies: [] }
  let next = 0
  const started = performance.now()

  async function work(): Promise<void> {
    const socket = connect(Number(port), hostname)
    socket.setNoDelay(true)
    await once(socket, 'connect')
    const read = reader(socket)
    while (next < requests) {
      const sent = performance.now()
      socket.write(requestOf(next++))
      const { status, body } = await read()
      result.times.push(performance.now() - sent)
      result.statuses.set(status, (result.statuses.get(status) ?? 0) + 1)
      if (keepBodies) result.bodies.push(body)
    }
    socket.destroy()
  }

  await Promise.all(Array.from({ length: connections }, work))
  result.seconds = (performance.now() - started) / 1000
  return result
}

type Answer = { status: number; body: string }

function reader(socket: Socket): () => Promise<Answer> {
  let [text, waiting]: [string, ((answer: Answer) => void) | null] = ['', null]
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
    const end = text.indexOf('\r\n\r\n')
    if (end < 0) return
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
    if (text.length < end + 4 + length) return
    const answer = {
      status: Number(text.slice(9, 12)),
      body: text.slice(end + 4, end + 4 + length),
    }
    text = ''
    waiting?.(answer)
  })
  return () => new Promise((resolve) => (waiting = resolve))
}

export function quantile(times: number[], q: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * q)] ?? NaN
}
