import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../free-port.ts'

export type S3Server = { endpoint: string; stop(): Promise<void> }

const PROGRAM = join(import.meta.dirname, '../../node_modules/s3rver/bin/s3rver.js')

/** Starts s3rver with a bucket. Its access key and its secret are `S3RVER`. */
export async function startS3(folder: string, bucket: string): Promise<S3Server> {
  const port = await freePort()
  const words = ['-d', folder, '-a', '127.0.0.1', '-p', String(port), '--silent']
  // Its continuation tokens need a cipher that OpenSSL has retired.
  const options = ['--openssl-legacy-provider', PROGRAM, ...words, '--configure-bucket', bucket]
  const child = spawn(process.execPath, options, { stdio: 'ignore' })
  const endpoint = `http://127.0.0.1:${port}`
  while (!(await fetch(endpoint).catch(() => null))) {
    if (child.exitCode !== null) throw new Error('s3rver did not start')
    await sleep(50)
  }
  return {
    endpoint,
    async stop() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}
