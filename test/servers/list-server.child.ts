// Runs in a machine with a network of its own. Every response is read from a file that the test
// writes.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ListAnswer } from './list-server.ts'

const server = createServer((request, response) => {
  appendFileSync('/run/requests', `${JSON.stringify(request.headers)}\n`)
  const { status, headers, body, breakOff }: ListAnswer = JSON.parse(
    readFileSync('/run/answer', 'utf8'),
  )
  response.writeHead(status, headers)
  if (!breakOff) response.end(Buffer.from(body, 'base64'))
  else response.write(Buffer.from(body, 'base64'), () => response.destroy())
})
server.listen(0, '127.0.0.1', () =>
  writeFileSync('/run/port', `${(server.address() as AddressInfo).port}\n`),
)
