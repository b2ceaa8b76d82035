import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SURROUNDINGS } from './command.ts'

export type Terminal = {
  /** The lines on the screen, without trailing spaces. */
  screen: () => string
  /** The screen with the escape sequences of its colours. */
  painted: () => string
  /** Everything written, also what has scrolled out of view. */
  history: () => string
  /** Types text as it is. */
  type: (text: string) => void
  /** Presses keys by their tmux names, such as `Enter`, `Tab` or `C-c`. */
  press: (...keys: string[]) => void
  /** Waits until the screen matches. */
  until: (pattern: RegExp) => Promise<string>
  close: () => void
}

type TerminalOptions = {
  env?: Record<string, string>
  columns?: number
  rows?: number
  cwd?: string
}

/** Time limit for a change of the screen. */
const PATIENCE_MS = 60_000

/** Runs a shell command in a terminal (tmux, with a server of its own). */
export function openTerminal(
  command: string,
  { env = {}, columns = 100, rows = 30, cwd = tmpdir() }: TerminalOptions = {},
): Terminal {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-terminal-'))
  const base = { ...SURROUNDINGS, HOME: folder, LANG: 'C.UTF-8', TERM: 'xterm-256color' }
  const tmux = (...args: string[]) =>
    execFileSync('tmux', ['-S', join(folder, 'socket'), '-f', '/dev/null', ...args], {
      env: { ...base, ...env },
      cwd,
      encoding: 'utf8',
    })
  // The pane stays after the command, with its exit code on the last line.
  const kept = `${command}; echo "[exit $?]"; sleep 600`
  tmux('new-session', '-d', '-x', String(columns), '-y', String(rows), kept)
  const screen = () => tmux('capture-pane', '-p', '-J').trimEnd()
  return {
    screen,
    painted: () => tmux('capture-pane', '-p', '-e'),
    history: () => tmux('capture-pane', '-p', '-J', '-S', '-').trimEnd(),
    type: (text) => void tmux('send-keys', '-l', '--', text),
    press: (...keys) => void tmux('send-keys', ...keys),
    async until(pattern) {
      for (const end = performance.now() + PATIENCE_MS; ; await sleep(50)) {
        const shown = screen()
        if (pattern.test(shown)) return shown
        if (performance.now() > end) throw new Error(`${pattern} did not appear:\n${shown}`)
      }
    },
    close() {
      tmux('kill-server')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
