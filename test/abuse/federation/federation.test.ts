import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect, startInstallation, type Installation } from './installation.ts'

let here: Installation
let there: Installation
beforeAll(async () => {
  here = await startInstallation()
  there = await startInstallation()
}, 60_000)
afterAll(async () => {
  await here?.service.stop()
  await there?.service.stop()
})

const ATTACKER = '8.8.3.1'

describe('two installations', () => {
  it('exchange evidence once both administrators approve', { timeout: 60_000 }, async () => {
    await connect(here, there)
    await there.report(ATTACKER, ['81.2.69.160', '90.1.1.1', '90.2.1.1'])
    await here.report(ATTACKER, ['88.198.1.1'])
    const name = new URL(there.url).host
    await expect
      .poll(() => here.check(ATTACKER), { timeout: 30_000 })
      .toMatchObject({ distinctReporters: 1, peers: [{ name, networks: 3, services: ['ssh'] }] })
  })
})
