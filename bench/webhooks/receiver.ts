// A receiver of forwarded requests. Its first line is its URL; GET /figures returns how many requests
// came, and how long after their capture (`x-sent-at`, milliseconds since 1970) they did.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

let delays: number[] = []
const server = createServer((request, response) => {
  if (request.url === '/figures') {
    const sorted = delays.toSorted((a, b) => a - b)
    delays = []
    const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? null
    response.end(
      JSON.stringify({ count: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99) }),
    )
    return
  }
  const sentAt = Number(request.headers['x-sent-at'] ?? Date.now())
  delays.push(Date.now() - sentAt)
  request.resume().once('end', () => response.writeHead(204).end())
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
