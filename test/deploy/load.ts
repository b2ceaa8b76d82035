import { Agent, request } from 'node:http'

/** What a run of requests came to. */
type Tally = {
  /** Keys of acknowledged requests, which must never be lost. */
  acknowledged: Set<string>
  /** How often each other status came; 0 is a connection that broke. */
  others: Map<number, number>
  /** Milliseconds of the slowest success. */
  slowest: number
}

export type Sender = {
  tally: Tally
  /** How many were begun. */
  sent(): number
  /** Waits for running requests. */
  stop(): Promise<Tally>
}

type Sent = { path: string; body: string; type: string; key: string }

/**
 * Sends on several connections, each request after the previous response.
 * @param make the n-th request; its key identifies it when acknowledged
 * @param from local addresses to send from, in turn
 * @param pause milliseconds after each success
 */
export function startSender(
  url: string,
  make: (n: number) => Sent,
  { connections = 8, from = ['127.0.0.1'], pause = 0 } = {},
): Sender {
  const agent = new Agent({ keepAlive: true, maxSockets: connections * from.length })
  const tally: Tally = { acknowledged: new Set(), others: new Map(), slowest: 0 }
  const stopping = new AbortController()
  let next = 0

  function sendOne({ path, body, type }: Sent, localAddress: string): Promise<number> {
    return new Promise((resolve) => {
      const options = {
        method: 'POST',
        agent,
        localAddress,
        timeout: 30_000,
        headers: { 'content-type': type },
      }
      const sent = request(`${url}${path}`, options, (response) => {
        response.resume().once('end', () => resolve(response.statusCode ?? 0))
        response.once('error', () => resolve(0))
      })
      sent.on('timeout', () => sent.destroy()).on('error', () => resolve(0))
      sent.end(body)
    })
  }

  async function keepSending(): Promise<void> {
    while (!stopping.signal.aborted) {
      const n = next++
      const one = make(n)
      const begun = performance.now()
      const status = await sendOne(one, from[n % from.length] as string)
      const isTaken = status === 200 || status === 201
      if (isTaken) {
        tally.acknowledged.add(one.key)
        tally.slowest = Math.max(tally.slowest, performance.now() - begun)
      } else tally.others.set(status, (tally.others.get(status) ?? 0) + 1)
      if (!isTaken || pause > 0)
        await new Promise((resolve) => setTimeout(resolve, isTaken ? pause : 20))
    }
  }

  const done = Promise.all(Array.from({ length: connections }, keepSending))
  return {
    tally,
    sent: () => next,
    async stop() {
      stopping.abort()
      await done
      agent.destroy()
      return tally
    },
  }
}

/** A webhook of its own path. */
export function captureOf(tokens: string[]): (n: number) => Sent {
  return (n) => {
    const path = `/webhooks/${tokens[n % tokens.length]}/${n}`
    return { path, body: `request ${n}`, type: 'text/plain', key: path }
  }
}

/** A report of an attacker that no other report is about. */
export function reportOf(first: number): (n: number) => Sent {
  return (n) => {
    const ip = `${first}.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`
    const body = JSON.stringify({ ip, service: 'ssh' })
    return { path: '/api/v1/abuse/report', body, type: 'application/json', key: ip }
  }
}
