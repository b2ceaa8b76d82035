import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

/** Starts a relay that accepts a message and disconnects before it responds. */
export async function startBreakingRelay() {
  let taken = 0
  const server = createServer((socket) => talk(socket, () => (taken += 1)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken: () => taken,
    async stop() {
      server.close()
      await once(server, 'close')
    },
  }
}

function talk(socket: Socket, onTaken: () => void): void {
  socket.on('error', () => {}).write('220 relay.test\r\n')
  let isMessage = false
  createInterface({ input: socket }).on('line', (line) => {
    if (line === '.') {
      onTaken()
      socket.destroy()
    } else if (!isMessage) {
      isMessage = line === 'DATA'
      socket.write(isMessage ? '354 go on\r\n' : '250 fine\r\n')
    }
  })
}
