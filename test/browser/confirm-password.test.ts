import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { startTestService, type TestService } from '../service.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { accessibilityFaults, heading, signedIn, type Visit } from './browsing.ts'

let browser: Browser
let portreeve: TestService
let database: Database
let adele: Visit
let page: Page

beforeAll(async () => {
  browser = await sharedChromium()
  portreeve = await startTestService()
  database = openDatabase(portreeve.databaseUrl)
  adele = await signedIn(browser, portreeve, 'Adele', 1440, { admin: true })
  page = adele.page
})
afterAll(async () => {
  await adele.close()
  await database.close()
  await portreeve.stop()
  await closeContexts(browser)
})

/** Makes every sign-in an hour old. */
async function wait(): Promise<void> {
  const authenticatedAt = new Date(Date.now() - 3_600_000)
  await database.db.updateTable('session').set({ authenticatedAt }).execute()
}

const prompt = () => page.getByRole('dialog', { name: 'Confirm that it’s you' })

async function confirmWith(password: string): Promise<void> {
  await prompt().getByLabel('Password', { exact: true }).fill(password)
  await prompt().getByRole('button', { name: 'Continue' }).click()
}

async function fillPerson(email: string): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Initial password').fill('the password of Dora')
}

const accounts = () => database.db.selectFrom('account').select('email').execute()

describe('an administrator who signed in a while ago', () => {
  it('confirms the password on the same screen, and the form is sent then', async () => {
    await page.goto('/administration/accounts')
    await heading(page, 'Accounts').waitFor()
    await wait()
    await fillPerson('dora@people.test')
    await page.getByRole('button', { name: 'Create account' }).click()
    await prompt().waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await confirmWith('not the password')
    await page.getByText('is not your password').first().waitFor()
    await confirmWith('the password of Adele')
    await page.getByText('dora@people.test can sign in now.').waitFor()
    expect(await prompt().isVisible()).toBe(false)
    expect(await accounts()).toHaveLength(2)
  })

  it('keeps the input when the prompt is closed with Escape, and sees why nothing was saved', async () => {
    await wait()
    await fillPerson('erin@people.test')
    await page.getByRole('button', { name: 'Create account' }).click()
    await prompt().waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('Confirm that it is you to continue').waitFor()
    expect(await page.getByLabel('Email').inputValue()).toBe('erin@people.test')
    expect(await accounts()).toHaveLength(2)
  })

  it('sees the prompt in front of an open confirmation, once', async () => {
    const dora = page.getByRole('checkbox', { name: 'Select dora@people.test' })
    await dora.check()
    await page
      .getByRole('group', { name: 'Actions' })
      .getByRole('button', { name: 'Delete' })
      .click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await confirmWith('the password of Adele')
    await expect.poll(accounts).toHaveLength(1)
    await dora.waitFor({ state: 'detached' })
  })

  it('downloads the export after the password', async () => {
    await page.goto('/account')
    await wait()
    await page.getByRole('button', { name: 'Export my data' }).click()
    const download = page.waitForEvent('download')
    await confirmWith('the password of Adele')
    expect((await download).suggestedFilename()).toBe('portreeve-account.ndjson')
  })

  it('causes no browser errors but the rejected requests', () => {
    expect(adele.complaints.filter((complaint) => !/status of 403/.test(complaint))).toEqual([])
  })
})
