import type { Duplex } from 'node:stream'
import type { ImapLost } from './refusals.ts'

/** The write side: text of one character a byte, or bytes. Resolves when there is room for more. */
export type CommandWriter = {
  /** @throws ImapLost */
  write(piece: string | Buffer): Promise<void>
  fail(reason: ImapLost): void
}

/**
 * Small pieces written in one go leave in one packet; a full socket makes the writer wait.
 * @param onProgress called whenever the socket took something, or has room again
 */
export function createCommandWriter(socket: Duplex, onProgress: () => void): CommandWriter {
  let lost: ImapLost | null = null
  let wake: (() => void) | null = null
  let isCorked = false

  function cork(): void {
    if (isCorked) return
    isCorked = true
    socket.cork()
    setImmediate(() => {
      isCorked = false
      socket.uncork()
    })
  }

  socket.on('drain', () => {
    onProgress()
    wake?.()
    wake = null
  })

  return {
    async write(piece) {
      if (lost) throw lost
      cork()
      const hasRoom = typeof piece === 'string' ? socket.write(piece, 'latin1') : socket.write(piece)
      if (hasRoom) onProgress()
      else await new Promise<void>((resolve) => (wake = resolve))
      if (lost) throw lost
    },
    fail(reason) {
      lost = reason
      wake?.()
      wake = null
    },
  }
}
