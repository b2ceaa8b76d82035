import type { Socket } from 'node:net'

/** Sends the same bytes as fast as possible, forever. */
export function flood(socket: Socket, bytes: Buffer): void {
  const more = () => {
    while (socket.writable && socket.write(bytes));
  }
  socket.on('drain', more)
  more()
}

/** Sends a text byte by byte, at an interval in milliseconds. */
export function trickle(socket: Socket, text: string, every: number): void {
  let at = 0
  const timer = setInterval(
    () => socket.writable && socket.write(text[at++ % text.length] ?? ''),
    every,
  )
  socket.on('close', () => clearInterval(timer))
}
