import type { ClientRequest } from 'node:http'
import type { Duplex } from 'node:stream'

/**
 * Fails a request whose server switches protocols (101), which was not asked for. Node would close
 * the connection, and emit neither a response nor an error.
 */
export function refuseUpgrade(sent: ClientRequest): ClientRequest {
  return sent.once('upgrade', (_response, socket: Duplex) => {
    socket.destroy()
    sent.emit('error', new Error('the server switched to another protocol (101)'))
  })
}
