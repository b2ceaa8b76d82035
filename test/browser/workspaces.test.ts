import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TEST_PATH } from '../base-path.ts'
import { sharedService, type Person, type TestService } from '../service.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import {
  changed,
  faultsAtAllWidths,
  goTo,
  heading,
  overflow,
  signedIn,
  untilLoaded,
  visit,
  type Visit,
} from './browsing.ts'

let browser: Browser
let portreeve: TestService
let adele: Visit & { person: Person }
let bruno: Visit & { person: Person }
/** The pages of two people, in two browsers. */
let hers: Page
let his: Page

beforeAll(async () => {
  browser = await sharedChromium()
  portreeve = await sharedService()
  adele = await signedIn(browser, portreeve, 'Adele')
  bruno = {
    ...(await visit(browser, portreeve.url)),
    // A plan with a place for the workspace that he gets.
    person: await portreeve.addPerson('Bruno', { plan: 'starter' }),
  }
  hers = adele.page
  his = bruno.page
})
afterAll(async () => {
  await adele.close()
  await bruno.close()
  await portreeve.stop()
  await closeContexts(browser)
})

const switcher = (page: Page) => page.getByRole('button', { name: /^Workspace .*, switch$/ })
const dialog = (page: Page) => page.getByRole('dialog', { name: 'Switch workspace' })

async function switchTo(page: Page, name: string): Promise<void> {
  await switcher(page).click()
  await dialog(page).getByRole('option', { name }).click()
  await page.getByRole('button', { name: `Workspace ${name}, switch` }).waitFor()
}

/** Each test continues where the one before it ended. */
describe('two people', () => {
  let link = ''

  it('see nothing of workspaces at first but the page of their own', async () => {
    await hers.goto('/workspace')
    await hers.getByText('Owner', { exact: true }).waitFor()
    expect(await switcher(hers).count()).toBe(0)
    await hers.getByLabel('Workspace name').fill('Harbour')
    await hers.getByRole('button', { name: 'Save name' }).click()
    await hers.getByText('Name saved.').waitFor()
  })

  it('invite by a link, which is shown once', async () => {
    await hers.getByRole('link', { name: 'Members' }).click()
    await heading(hers, 'Members').waitFor()
    await hers.getByRole('link', { name: 'Invite a member' }).click()
    await hers.getByLabel('Role').selectOption('read-only')
    await hers.getByRole('button', { name: 'Create invitation' }).click()
    await hers.getByText('Invitation created').waitFor()
    link = (await hers.getByLabel('the invitation link', { exact: true }).innerText()).split(
      '\n',
    )[0]!
    expect(new URL(link).pathname).toBe(`${TEST_PATH}/invitation`)
    await hers.getByText('Anybody with the link', { exact: true }).waitFor()
    expect(await faultsAtAllWidths(hers)).toEqual([])
    await hers.reload()
    await hers.getByText('Anybody with the link', { exact: true }).waitFor()
    expect(await hers.content()).not.toContain(new URL(link).hash)
  })

  it('revoke an invitation, whose link then shows why it fails', async () => {
    await hers.getByLabel('Email').fill('somebody@elsewhere.test')
    await hers.getByRole('button', { name: 'Create invitation' }).click()
    const named = hers.getByLabel('the invitation link', { exact: true })
    const revoked = (await named.innerText()).split('\n')[0]!
    await hers
      .getByRole('button', { name: 'Revoke the invitation for somebody@elsewhere.test' })
      .click()
    await hers.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await hers.getByRole('listitem').filter({ hasText: 'somebody@' }).waitFor({ state: 'detached' })
    await his.goto(revoked)
    await his.getByText('This invitation can’t be used').waitFor()
  })

  it('sign in from the invitation, come back to it, and join', async () => {
    await his.goto(link)
    await his.reload()
    await heading(his, 'Join “Harbour”').waitFor()
    expect(await faultsAtAllWidths(his)).toEqual([])
    await his.getByRole('link', { name: 'Sign in' }).click()
    await heading(his, 'Sign in').waitFor()
    expect(his.url()).not.toContain(new URL(link).hash.slice(1))
    await his.getByLabel('Email').fill(bruno.person.email)
    await his.getByLabel('Password', { exact: true }).fill('the password of Bruno')
    await his.getByRole('button', { name: 'Sign in', exact: true }).click()
    await his.getByText(`You are signed in as ${bruno.person.email}.`).waitFor()
    await his.getByRole('button', { name: 'Join workspace' }).click()
    await his.getByRole('button', { name: 'Workspace Harbour, switch' }).waitFor()
    expect(new URL(his.url()).pathname).toBe('/home')
    await hers.goto('/workspace/members')
    await hers.getByRole('rowheader', { name: bruno.person.email }).waitFor()
  })

  it('create the account of an invited address on the page of its invitation', async () => {
    await hers.goto('/workspace/invitations')
    await hers.getByLabel('Email').fill('new.person@elsewhere.test')
    await hers.getByRole('button', { name: 'Create invitation' }).click()
    const named = hers.getByLabel('the invitation link', { exact: true })
    const { page: theirs, close } = await visit(browser, portreeve.url)
    await theirs.goto((await named.innerText()).split('\n', 1)[0] ?? '')
    await theirs.getByLabel('Your name').fill('New Person')
    await theirs.getByLabel('Password', { exact: true }).fill('a long enough password')
    expect(await faultsAtAllWidths(theirs)).toEqual([])
    await theirs.getByRole('button', { name: 'Create account and join' }).click()
    await theirs.getByRole('button', { name: 'Workspace Harbour, switch' }).waitFor()
    expect(new URL(theirs.url()).pathname).toBe('/home')
    await close()
  })

  it('explain an invitation for another address', async () => {
    await hers.goto('/workspace/invitations')
    await hers.getByLabel('Email').fill('clara@people.test')
    await hers.getByRole('button', { name: 'Create invitation' }).click()
    const named = hers.getByLabel('the invitation link', { exact: true })
    const foreign = (await named.innerText()).split('\n')[0]!
    await his.goto(foreign)
    await his.getByText('This invitation is for another address').waitFor()
    expect(await his.getByRole('button', { name: 'Join workspace' }).count()).toBe(0)
    expect(await faultsAtAllWidths(his)).toEqual([])
  })
})

/** Screens with actions that change data. */
const SCREENS = [
  '/monitoring',
  '/monitoring/lists',
  '/dmarc',
  '/dmarc/mailboxes',
  '/delisting',
  '/delisting/new',
  '/migrations',
  '/migrations/new',
  '/attacks/servers',
  '/hooks',
  '/alerts/channels',
  '/alerts/channels/new/ntfy',
  '/alerts/channels/guide/ntfy',
  '/alerts/rules',
  '/workspace/members',
  '/workspace/invitations',
]

/** Buttons that change nothing, at least not on the service. */
const HARMLESS = /^(Copy|Copied|Show password|Show channels|)$/

const NO_ACCESS = 'You have read-only access to this workspace.'

describe('a read-only member', () => {
  it.for(SCREENS)('sees on %s no action that the service would reject', async (path) => {
    await goTo(his, path)
    await untilLoaded(his)
    await his.locator('main :is(:disabled, [aria-disabled=true])').first().waitFor()
    const enabled = await his
      .locator('main :is(button, [role=switch]):visible:not(:disabled, [aria-disabled=true])')
      .allInnerTexts()
    expect(enabled.filter((name) => !HARMLESS.test(name.split('\n')[0]!.trim()))).toEqual([])
  })

  it('learns the reason by keyboard and by touch', async () => {
    await his.goto('/delisting')
    const button = his.getByRole('button', { name: 'New delisting' }).first()
    await button.focus()
    await his.getByRole('tooltip').waitFor()
    expect(await his.getByRole('tooltip').innerText()).toBe(NO_ACCESS)
    expect(await button.getAttribute('aria-describedby')).not.toBeNull()
    await his.keyboard.press('Escape')
    await his.getByRole('tooltip').waitFor({ state: 'hidden' })
    await button.click({ force: true })
    await his.getByRole('tooltip').waitFor()
    expect(await faultsAtAllWidths(his)).toEqual([])
  })

  it('can act at once with a higher role, and no longer after a demotion', async () => {
    await his.goto('/monitoring')
    const button = his.getByRole('button', { name: 'Start monitoring' })
    const isEnabled = () => button.isEnabled()
    await expect.poll(isEnabled).toBe(false)
    await his.getByText(NO_ACCESS).filter({ visible: true }).first().waitFor()
    await hers.goto('/workspace/members')
    const role = hers.getByLabel(`Role of ${bruno.person.email}`)
    await Promise.all([changed(hers), role.selectOption('member')])
    await expect.poll(isEnabled).toBe(true)
    await Promise.all([changed(hers), role.selectOption('read-only')])
    await expect.poll(isEnabled).toBe(false)
  })
})

describe('a person with two workspaces', () => {
  it('switches with the keyboard, and sees the data of the other one', async () => {
    await his.goto('/hooks')
    await switchTo(his, 'Bruno')
    await his.goto('/hooks')
    await his.getByRole('button', { name: 'Create' }).first().click()
    await his.waitForURL(/\/hooks\/.+/)
    // A screen takes the focus once it is there.
    await untilLoaded(his)
    await switcher(his).press('Enter')
    await dialog(his).waitFor()
    await his.keyboard.press('ArrowDown')
    await his.keyboard.press('Enter')
    await his.getByRole('button', { name: 'Workspace Harbour, switch' }).waitFor()
    expect(new URL(his.url()).pathname).toBe('/home')
    await his.goto('/hooks')
    await his.getByText('No webhook endpoints yet').or(his.getByText('No endpoints')).waitFor()
  })

  it('goes back from a new one, which is empty', async () => {
    const { page, close } = await signedIn(browser, portreeve, 'Nora', 1440, { plan: 'pro' })
    await page.goto('/workspace')
    await page.getByLabel('Name of the new workspace').fill('Second')
    await page.getByRole('button', { name: 'Create workspace' }).click()
    await page.getByText('You’re now in “Second”.').waitFor()
    await page.getByRole('button', { name: 'Workspace Second, switch' }).waitFor()
    await page.getByRole('button', { name: 'Back', exact: true }).click()
    await page.getByRole('button', { name: 'Workspace Nora, switch' }).waitFor()
    await close()
  })

  it('keeps a choice per tab, with the last one for new tabs', async () => {
    const other = await his.context().newPage()
    await other.goto('/home')
    await other.getByRole('button', { name: 'Workspace Harbour, switch' }).waitFor()
    await switchTo(other, 'Bruno')
    await his.reload()
    await his.getByRole('button', { name: 'Workspace Harbour, switch' }).waitFor()
    await other.close()
  })

  it('switches in the command palette', async () => {
    await his.keyboard.press('Control+k')
    await his.getByRole('combobox').fill('Switch to')
    await his.keyboard.press('Enter')
    await his.getByRole('button', { name: 'Workspace Bruno, switch' }).waitFor()
  })

  it('sees the problems of all workspaces', async () => {
    await switcher(his).click()
    await dialog(his).getByRole('link', { name: 'Problems in all workspaces' }).click()
    await heading(his, 'Your workspaces').waitFor()
    expect(await his.getByText(/^(No problems|\d+ problems?)$/).count()).toBeGreaterThanOrEqual(0)
    await expect.poll(() => his.getByText(/^(No problems|\d+ problems?)$/).count()).toBe(2)
    expect(await faultsAtAllWidths(his)).toEqual([])
    await his.getByRole('button', { name: 'Open Harbour' }).click()
    await his.getByRole('button', { name: 'Workspace Harbour, switch' }).waitFor()
  })

  it('switches on a phone under “More”', async () => {
    await his.setViewportSize({ width: 320, height: 700 })
    await his.getByRole('button', { name: 'More' }).click()
    await switcher(his).click()
    expect(await overflow(his)).toBe(0)
    await dialog(his).getByRole('option', { name: 'Bruno' }).click()
    await heading(his, 'Good to see you, Bruno').or(his.locator('main h1')).first().waitFor()
    await his.getByRole('button', { name: 'More' }).click()
    await his.getByRole('button', { name: 'Workspace Bruno, switch' }).waitFor()
    await his.keyboard.press('Escape')
    await his.setViewportSize({ width: 1440, height: 900 })
  })
})

describe('the last owner', () => {
  it('cannot leave before another member is an owner', async () => {
    await hers.goto('/workspace')
    await hers.getByText('You are the only owner.').waitFor()
    await hers.getByRole('link', { name: 'Transfer ownership' }).click()
    await heading(hers, 'Members').waitFor()
  })

  it('transfers the ownership step by step', async () => {
    await hers.locator('summary', { hasText: 'Make another member the owner' }).click()
    await hers.getByLabel('New owner').selectOption({ label: bruno.person.email })
    await hers.getByRole('button', { name: 'Make owner' }).click()
    await hers.getByText(`${bruno.person.email} is an owner now.`).waitFor()
    await hers.getByLabel('Role you keep').selectOption('member')
    await hers.getByRole('button', { name: 'Finish' }).click()
    await hers
      .getByText(`Ownership transferred to ${bruno.person.email}. Your role is member now.`)
      .waitFor()
  })

  it('removes a member, whose tab opens the first workspace and says why', async () => {
    await switchTo(his, 'Harbour')
    await hers.goto('/monitoring')
    await heading(hers, 'Servers & IPs').waitFor()
    await his.goto('/workspace/members')
    await his.getByRole('button', { name: `Remove ${adele.person.email}` }).click()
    await Promise.all([
      changed(his),
      his.getByRole('dialog').getByRole('button', { name: 'Remove' }).click(),
    ])
    await hers.getByText('You no longer have access to the workspace you used here.').waitFor()
    await heading(hers, 'Good to see you, Adele').waitFor()
    expect(new URL(hers.url()).pathname).toBe('/home')
    expect(await faultsAtAllWidths(hers)).toEqual([])
    await hers.getByRole('button', { name: 'OK' }).click()
    await hers.getByText('You no longer have access').waitFor({ state: 'detached' })
  })

  it('deletes the workspace by its name, and restores it', async () => {
    await his.goto('/workspace')
    await his.getByText('Delete this workspace').click()
    await his.getByLabel('Its name, to confirm').fill('harbor')
    await his.getByRole('button', { name: 'Delete workspace' }).click()
    await his.getByText('Enter Harbour to confirm.').waitFor()
    expect(await faultsAtAllWidths(his)).toEqual([])
    await his.getByLabel('Its name, to confirm').fill('Harbour')
    await his.getByRole('button', { name: 'Delete workspace' }).click()
    await switcher(his).waitFor({ state: 'detached' })
    await his.goto('/workspace')
    await his.getByRole('button', { name: 'Restore Harbour' }).click()
    await switcher(his).waitFor()
  })

  it('limits a token to one module, which is recorded in the audit log', async () => {
    await his.goto('/tokens')
    await his.getByLabel('Token name').fill('reports')
    await his.getByLabel('Access').selectOption('module')
    await his.getByLabel('Module').selectOption('dmarc')
    await his.getByRole('button', { name: 'Create token' }).click()
    await his.getByText('Token “reports” created').waitFor()
    await his.getByText('DMARC (read)').waitFor()
    const token = (await his.getByLabel('the token', { exact: true }).innerText()).split('\n')[0]!
    const status = async (path: string) => (await portreeve.request(path, { token })).status
    expect(await status('/api/v1/dmarc/domains')).toBe(200)
    expect(await status('/api/v1/monitoring/hosts')).toBe(403)
    expect(await faultsAtAllWidths(his)).toEqual([])
    await his.goto('/workspace/audit')
    await his.getByText('Create an API token').waitFor()
  })

  it('causes no browser errors but rejected requests', () => {
    const all = [...adele.complaints, ...bruno.complaints]
    expect(all.filter((complaint) => !/status of (403|404|400|410)/.test(complaint))).toEqual([])
  })
})
