import type { RunningService } from '../../app.ts'
import { paint } from '../terminal-text.ts'

/** Time without log lines after which the block is printed again. */
const QUIET_MS = 500

/** Rows of a terminal that does not report them. */
const DEFAULT_ROWS = 24

/** Where the service runs and, until an account exists, the link that creates the first one. */
export function welcomeBlock(
  url: string,
  setupLink: string | null,
  out: NodeJS.WriteStream,
): string {
  const rows = [
    ['Portreeve is running:', url],
    ...(setupLink ? [['Create first account:', setupLink]] : []),
    ['API documentation:', `${url}/docs`],
  ]
  const lines = rows.map(
    ([label = '', link = '']) => `  ${label.padEnd(24)} ${paint('bold', link, out)}`,
  )
  return `\n${lines.join('\n')}\n\n`
}

/**
 * Prints the block at a terminal, and again when log lines have pushed it out of view while no
 * account exists.
 */
export function createWelcome(service: RunningService, out: NodeJS.WriteStream) {
  let setupLink = service.setupLink
  let linesBelow = 0
  let timer: NodeJS.Timeout | undefined

  function show(): void {
    const block = welcomeBlock(service.publicUrl, setupLink, out)
    out.write(`${block}  Press Ctrl-C to stop.\n\n`)
    linesBelow = 0
  }

  async function showAgain(): Promise<void> {
    setupLink = await service.findSetupLink().catch(() => setupLink)
    if (setupLink) show()
  }

  show()
  return {
    /** Counts a line that was written below the block. */
    lineWritten(this: void): void {
      linesBelow += 1
      if (!setupLink || linesBelow < (out.rows ?? DEFAULT_ROWS) - 8) return
      clearTimeout(timer)
      timer = setTimeout(() => void showAgain(), QUIET_MS)
    },
    end: (): void => clearTimeout(timer),
  }
}
