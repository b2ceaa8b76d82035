import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'

export type Holding = {
  port: number
  /** Releases held queries, and holds no further ones. */
  release(): void
  close(): Promise<void>
}

/**
 * A proxy of a DNS server (UDP) that holds queries back, to test what is shown until they are
 * answered.
 * @param holds a label of the names whose queries are held
 */
export async function startHolding(port: number, holds: string): Promise<Holding> {
  const front = createSocket('udp4')
  front.bind(0, '127.0.0.1')
  await once(front, 'listening')
  const held: (() => void)[] = []
  let isOpen = false

  function pass(query: Buffer, from: RemoteInfo): void {
    const back = createSocket('udp4')
    back.on('message', (answer) => {
      front.send(answer, from.port, from.address)
      back.close()
    })
    back.send(query, port, '127.0.0.1')
  }

  front.on('message', (query, from) => {
    if (isOpen || !query.includes(holds)) pass(query, from)
    else held.push(() => pass(query, from))
  })
  return {
    port: front.address().port,
    release() {
      isOpen = true
      for (const go of held.splice(0)) go()
    },
    async close() {
      front.close()
      await once(front, 'close')
    },
  }
}
