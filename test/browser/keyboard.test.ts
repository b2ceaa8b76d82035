import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedService, type TestService } from '../service.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import {
  accessibilityFaults,
  overflow,
  signedIn,
  tabTo,
  untilLoaded,
  type Visit,
} from './browsing.ts'

let browser: Browser
let portreeve: TestService
let alice: Visit
let page: Page
beforeAll(async () => {
  portreeve = await sharedService()
  browser = await sharedChromium()
  alice = await signedIn(browser, portreeve, 'Alice')
  page = alice.page
  for (const label of ['shop orders', 'newsletter', 'payments']) {
    await page.request.post('/api/webhook/endpoints', {
      data: { label },
      headers: { origin: portreeve.url },
    })
  }
})
afterAll(() => closeContexts(browser))

const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true })
const palette = () => page.getByRole('dialog', { name: 'Search' })
const focused = () => page.evaluate<string>('document.activeElement.textContent')

async function begin(path: string, name: string): Promise<void> {
  await page.goto(path)
  await heading(name).waitFor()
  // What is drawn again loses the focus.
  await untilLoaded(page)
}

describe('Ctrl-K', () => {
  it('opens a screen by the beginning of its name', async () => {
    await begin('/account', 'Account')
    await page.keyboard.press('ControlOrMeta+k')
    await palette().getByRole('combobox').waitFor()
    await page.keyboard.type('webh')
    await palette().getByRole('option', { name: 'Webhooks' }).waitFor()
    await page.keyboard.press('Enter')
    await heading('Webhooks').waitFor()
    await palette().waitFor({ state: 'hidden' })
  })

  it('checks a typed address or domain', async () => {
    await page.keyboard.press('ControlOrMeta+k')
    await page.keyboard.type('example.test')
    await palette().getByRole('option', { name: 'Check example.test', selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/domains/example.test')
  })

  it('opens while the one before is still being closed', async () => {
    await begin('/account', 'Account')
    await page.keyboard.press('ControlOrMeta+k')
    await palette().getByRole('combobox').fill('hooks')
    // The event of the end comes later than the next key.
    await page.evaluate(`new Promise((done) => {
      const dialog = document.querySelector('dialog[open]')
      dialog.addEventListener('close', done, { once: true })
      dialog.close()
      window.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }))
    }).then(() => {})`)
    expect(await palette().getByRole('combobox').inputValue()).toBe('')
    await page.keyboard.press('Escape')
    await palette().waitFor({ state: 'hidden' })
  })

  it('finds a webhook by its label, and selects it with the arrow keys', async () => {
    await begin('/account', 'Account')
    await page.keyboard.press('ControlOrMeta+k')
    await page.keyboard.type('paym')
    await palette().getByRole('option', { name: 'payments' }).waitFor()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('webhook')
    await palette().getByRole('option', { name: 'payments' }).waitFor()
    expect(await palette().getByRole('option', { selected: true }).textContent()).toContain(
      'Webhooks',
    )
    await page.keyboard.press('ArrowUp')
    const last = await palette().getByRole('option', { selected: true }).textContent()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/hooks/*')
    await heading((last ?? '').replace('Webhook', '')).waitFor()
  })

  it('shows that nothing matches, and Escape returns the focus', async () => {
    await begin('/account', 'Account')
    await page.getByRole('button', { name: 'Sign out' }).press('ControlOrMeta+k')
    await page.keyboard.type('xyzzy')
    await page.getByText('No results for “xyzzy”').waitFor()
    await page.keyboard.press('Escape')
    await palette().waitFor({ state: 'hidden' })
    expect(await focused()).toBe('Sign out')
  })

  it('opens from a button too, and fits a phone in both themes', async () => {
    await page.setViewportSize({ width: 320, height: 700 })
    await page.getByRole('button', { name: 'Search or check' }).click()
    await palette().getByRole('option').first().waitFor()
    expect([await accessibilityFaults(page), await overflow(page)]).toEqual([[], 0])
    await palette().getByRole('option', { name: 'Migrations' }).click()
    await heading('Migrations').waitFor()
    await page.setViewportSize({ width: 1440, height: 900 })
  })
})

describe('single-key shortcuts', () => {
  it('open a screen: g, then its letter', async () => {
    await begin('/account', 'Account')
    await page.keyboard.press('g')
    await page.keyboard.press('t')
    await heading('API tokens').waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('w')
    await heading('Webhooks').waitFor()
  })

  it('move through a list, and Enter opens the focused row', async () => {
    await page.getByRole('link', { name: 'payments' }).waitFor()
    await page.keyboard.press('j')
    await expect.poll(focused).toBe('payments')
    await page.keyboard.press('j')
    await expect.poll(focused).toBe('newsletter')
    await page.keyboard.press('k')
    await expect.poll(focused).toBe('payments')
    await page.keyboard.press('Enter')
    await heading('payments').waitFor()
  })

  it('are listed by ?, those of the screen first', async () => {
    await page.keyboard.press('?')
    const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await sheet.getByText('Older request').waitFor()
    const titles = await sheet.getByRole('heading', { level: 3 }).allTextContents()
    expect(titles).toEqual(['On this screen', 'Everywhere', 'Always'])
    expect([await accessibilityFaults(page), await overflow(page)]).toEqual([[], 0])
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'hidden' })
  })

  it('are ignored while typing', async () => {
    await begin('/hooks', 'Webhooks')
    await tabTo(page, 'Name (optional)')
    await page.keyboard.type('j g t ?')
    expect(await page.getByLabel('Name (optional)').inputValue()).toBe('j g t ?')
    expect(new URL(page.url()).pathname).toBe('/hooks')
  })

  it('can be turned off, while Ctrl-K still works', async () => {
    await begin('/account', 'Account')
    await page.getByLabel('Single-key shortcuts').uncheck()
    await page.getByRole('heading', { level: 1 }).press('g')
    await page.keyboard.press('t')
    await page.keyboard.press('?')
    await page.keyboard.press('ControlOrMeta+k')
    await palette().getByRole('combobox').waitFor()
    expect(await page.getByRole('dialog').count()).toBe(1)
    expect(new URL(page.url()).pathname).toBe('/account')
    await page.keyboard.press('Escape')
    await page.getByLabel('Single-key shortcuts').check()
  })
})

describe('with the keyboard alone', () => {
  it('the first stop skips the navigation', async () => {
    await begin('/tokens', 'API tokens')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Skip to content')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.name')).toBe('label')
  })

  it('a new screen focuses its heading', async () => {
    await begin('/hooks', 'Webhooks')
    await page.getByRole('link', { name: 'Settings', exact: true }).press('Enter')
    await heading('Account').waitFor()
    expect(await focused()).toBe('Account')
    expect(await page.title()).toBe('Account · Portreeve')
  })

  it('API tokens are created, copied and revoked', async () => {
    await begin('/tokens', 'API tokens')
    await tabTo(page, 'Token name')
    await page.keyboard.type('backups')
    await page.keyboard.press('Enter')
    await page.getByText('Token “backups” created').waitFor()
    await tabTo(page, 'Copy the token')
    await page.keyboard.press('Enter')
    await page.getByText('Copied.').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^prv_/)
    await tabTo(page, 'Revoke backups')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Revoke “backups”?' }).waitFor()
    await tabTo(page, 'Revoke')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Revoke backups' }).waitFor({ state: 'hidden' })
  })
})

it('causes no browser errors', () => {
  expect(alice.complaints.filter((complaint) => !/status of (4|5)\d\d/.test(complaint))).toEqual([])
})

describe('actions of the palette', () => {
  let dora: Visit
  const run = async (name: string) => {
    await dora.page.keyboard.press('Control+k')
    const dialog = dora.page.getByRole('dialog', { name: 'Search' })
    await dialog.getByRole('combobox').fill(name)
    await dialog.getByRole('option', { name, selected: true }).waitFor()
    await dora.page.keyboard.press('Enter')
  }
  const focusedField = () => dora.page.evaluate<string>('document.activeElement.name ?? ""')
  beforeAll(async () => {
    dora = await signedIn(browser, portreeve, 'Dora')
    await dora.page.goto('/home')
    await dora.page.locator('h1').waitFor()
  })
  afterAll(() => dora.close())

  it('change the theme', async () => {
    const theme = () => dora.page.evaluate('document.documentElement.dataset.theme')
    await run('Dark mode')
    await expect.poll(theme).toBe('dark')
    await run('Light mode')
    await expect.poll(theme).toBe('light')
  })

  it('create a webhook endpoint', async () => {
    await run('New webhook endpoint')
    await dora.page.getByText('Waiting for the first request').waitFor()
  })

  it.each([
    ['Add a host', '/monitoring', 'host'],
    ['Check a domain…', '/check', 'q'],
    ['Add a DMARC domain', '/dmarc', 'domain'],
    ['Add a report mailbox', '/dmarc/mailboxes', 'host'],
    ['New migration', '/migrations/new', 'host'],
    ['New delisting', '/delisting/new', 'ip'],
    ['New API token', '/tokens', 'label'],
    ['New alert channel', '/alerts/channels/new', 'service'],
    ['New alert rule', '/alerts/rules', 'name'],
  ])('open the form of “%s”', async (name, path, field) => {
    await run(name)
    await dora.page.waitForURL(`**${path}`)
    await expect.poll(focusedField).toBe(field)
  })

  it('sign out', async () => {
    await run('Sign out')
    await dora.page.getByRole('link', { name: 'Sign in' }).waitFor()
    expect(dora.complaints).toEqual([])
  })
})
