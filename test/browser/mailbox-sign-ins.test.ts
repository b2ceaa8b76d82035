import { exportPKCS8, generateKeyPair } from 'jose'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sharedService, type TestService } from '../service.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { faultsAtAllWidths, signedIn, visit } from './browsing.ts'

let browser: Browser
let portreeve: TestService

beforeAll(async () => {
  portreeve = await sharedService()
  browser = await sharedChromium()
})
afterAll(async () => {
  await closeContexts(browser)
  await portreeve.stop()
})

it('a migration waits for its owner, whose link is created on its page and works without an account', async () => {
  const side = { host: '127.0.0.1', port: 1, secure: false, user: 'bob@example.com' }
  const own = await signedIn(browser, portreeve, 'Alice', undefined, { plan: 'enterprise' })
  const { page } = own
  const response = await page.request.post('/api/v1/imap/migrate', {
    headers: { origin: portreeve.url },
    data: {
      source: { ...side, owner: true },
      destination: { ...side, port: 2, password: 'secret' },
      folders: [],
    },
  })
  const { migrationId } = (await response.json()) as { migrationId: string }
  await page.goto(`/migrations/${migrationId}`)
  await page.getByText('Waiting for the owner of the mailbox to sign in.').waitFor()
  await page.getByRole('button', { name: 'Create a link' }).click()
  const link = await page.getByText('/mailbox-sign-in/').textContent()
  await page.getByRole('button', { name: 'Revoke' }).waitFor()
  expect(await faultsAtAllWidths(page)).toEqual([])
  await page.request.post(`/api/v1/imap/migrate/${migrationId}/cancel`, {
    headers: { origin: portreeve.url },
    data: {},
  })
  await page.getByText('The owner signs in by a link').waitFor()
  await page.getByLabel('Destination: password').fill('secret')
  await page.getByRole('button', { name: 'Retry' }).click()
  await page.getByText('Waiting for the owner of the mailbox to sign in.').waitFor()
  await own.close()
  const owner = await visit(browser, portreeve.url, 390)
  await owner.page.goto(new URL(link?.trim() ?? '').pathname)
  await owner.page.getByRole('heading', { name: 'Sign in to bob@example.com' }).waitFor()
  await owner.page.getByLabel('Password of bob@example.com').fill('secret')
  await owner.page.getByRole('button', { name: 'Sign in' }).click()
  // No server listens there.
  await owner.page.getByRole('alert').waitFor()
  expect(await faultsAtAllWidths(owner.page)).toEqual([])
  await owner.close()
})

it('a key file is added as a sign-in for all mailboxes', async () => {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const key = {
    type: 'service_account',
    client_email: 'mover@project.iam.gserviceaccount.com',
    client_id: '1000000001',
    private_key_id: 'key-1',
    private_key: await exportPKCS8(privateKey),
  }
  const own = await signedIn(browser, portreeve, 'Ada')
  const { page } = own
  await page.goto('/migrations/sign-ins')
  await page.getByText('No sign-ins yet').waitFor()
  const buffer = Buffer.from(JSON.stringify(key))
  const file = { name: 'key.json', mimeType: 'application/json', buffer }
  await page.getByLabel('Choose the key file').setInputFiles(file)
  await page.getByText('Chosen: key.json').waitFor()
  await page.getByRole('button', { name: 'Check and add' }).click()
  await page.getByRole('rowheader', { name: 'mover@project.iam.gserviceaccount.com' }).waitFor()
  await page.getByLabel('Provider').selectOption({ label: 'Microsoft: application' })
  await page.getByLabel('Or choose a certificate').setInputFiles([
    { ...file, name: 'tls.crt' },
    { ...file, name: 'tls.key' },
  ])
  await page.getByText('Chosen: tls.crt, tls.key').waitFor()
  expect(await faultsAtAllWidths(page)).toEqual([])
  await own.close()
})
