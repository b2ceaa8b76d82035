import { describe, expect, it } from 'vitest'
import { findMisspeltSettings } from '../../src/cli/misspelt-settings.ts'

describe('a variable that was meant as a setting', () => {
  it.each([
    ['BASE_URl', 'BASE_URL'],
    ['base_url', 'BASE_URL'],
    ['BASE_URI', 'BASE_URL'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['SECRET_KEY_FIEL', 'SECRET_KEY_FILE'],
    ['REPORT_DOMIAN', 'REPORT_DOMAIN'],
    ['port', 'PORT'],
  ])('is found: %s', (given, meant) => {
    expect(findMisspeltSettings({ [given]: 'x' })).toEqual([{ given, meant }])
  })

  it('is none of another program, and none beside the setting itself', () => {
    const others = {
      PATH: 'x',
      HOME: 'x',
      HOSTNAME: 'x',
      SHELL: 'x',
      LOGNAME: 'x',
      NODE_ENV: 'x',
      NODE_OPTIONS: 'x',
      TZ: 'x',
      LANG: 'x',
      PWD: 'x',
      MAIL: 'x',
      TMPDIR: 'x',
      HTTP_PORT: 'x',
      SMTP_PORT: 'x',
      POSTGRES_USER: 'x',
      POSTGRES_PASSWORD: 'x',
      KUBERNETES_PORT: 'x',
      PORTREEVE_PORT: 'x',
      PORTREEVE_SERVICE_HOST: 'x',
      INVOCATION_ID: 'x',
      JOURNAL_STREAM: 'x',
      NOTIFY_SOCKET: 'x',
      npm_config_cache: 'x',
    }
    expect(findMisspeltSettings(others)).toEqual([])
    expect(findMisspeltSettings({ BASE_URI: 'x', BASE_URL: 'y' })).toEqual([])
  })
})
