import { existsSync } from 'node:fs'
import { chromium, type Browser } from 'playwright-core'

const CHROMIUM = '/usr/bin/chromium'
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/**
 * The distribution's Chromium without a window, on a profile of its own that goes with it. Close it
 * with `close()`.
 */
export async function startChromium(): Promise<Browser> {
  if (!existsSync(CHROMIUM)) {
    throw new Error(
      `These tests need ${CHROMIUM}: install the Debian package chromium (apt-get install chromium).`,
    )
  }
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
}
