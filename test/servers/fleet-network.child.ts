// Accepts connections in the network namespace it is started in, and hands each to its parent.
import { createServer } from 'node:net'

const [host = '', port = ''] = process.argv.slice(2)
const server = createServer({ pauseOnConnect: true }, (socket) => {
  process.send?.('connection', socket, () => {})
})
server.listen(Number(port), host, () => process.send?.('listening'))
process.on('disconnect', () => process.exit())
