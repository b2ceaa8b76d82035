import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Sent = {
  /**
   * 0 when the mail was taken; else what step was refused (swaks: 24 RCPT, 26 after the data, 29
   * STARTTLS …).
   */
  code: number
  /** Both sides of the conversation. */
  transcript: string
}

/** Sends a mail with Debian's swaks. @param more further options, such as `--tls` */
export async function swaks(
  port: number,
  to: string,
  mail: string | null,
  ...more: string[]
): Promise<Sent> {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-swaks-'))
  try {
    const file = join(folder, 'mail.eml')
    if (mail !== null) writeFileSync(file, mail)
    const data = mail === null ? [] : ['--data', `@${file}`]
    const from = more.includes('--from') ? [] : ['--from', 'noreply@receiver.test']
    const fixed = [
      '--server',
      '127.0.0.1',
      '--port',
      String(port),
      '--to',
      to,
      '--helo',
      'mail.receiver.test',
    ]
    return await run([...fixed, ...from, ...data, '--timeout', '20', ...more])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function run(args: string[]): Promise<Sent> {
  return new Promise((resolve) => {
    execFile(
      '/usr/bin/swaks',
      args,
      { maxBuffer: 256 * 1024 * 1024, timeout: 60_000 },
      (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code ?? -1) : 0, transcript: stdout + stderr })
      },
    )
  })
}
