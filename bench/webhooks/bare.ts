// The upper bound of node:http: reads the body, responds 200, stores nothing. Prints its URL.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const server = createServer((request, response) => {
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', () => {
    const { length } = Buffer.concat(pieces)
    response.writeHead(200, { 'content-type': 'text/plain' })
    response.end(`${length}`)
  })
})
server.listen(0, '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
)
