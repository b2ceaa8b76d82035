import type { Duplex } from 'node:stream'
import type { ImapLost } from './refusals.ts'

/** Writes text with one character per byte, or bytes. Resolves when the socket can take more. */
export type CommandWriter = {
  /**
   * @param onSent called when the operating system has all bytes of the piece
   * @throws ImapLost
   */
  write(piece: string | Buffer, onSent?: () => void): Promise<void>
  fail(reason: ImapLost): void
}

/**
 * Creates a writer that sends small pieces written in one turn in one packet, and waits while the
 * socket is full.
 * @param onProgress called whenever the socket accepts data or drains
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
    async write(piece, onSent) {
      if (lost) throw lost
      cork()
      const ended = onSent && ((error?: Error | null) => void (error ?? onSent()))
      const hasRoom =
        typeof piece === 'string'
          ? socket.write(piece, 'latin1', ended)
          : socket.write(piece, ended)
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
