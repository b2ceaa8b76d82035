import { describe, expect, it } from 'vitest'
import { kindField, sendingOf } from '../../web/src/alerts/channels/sending.ts'
import { wrongQuietHours } from '../../web/src/alerts/quiet-hours.ts'
import { presentChannelTypes } from '../../src/alerts/alert-view.ts'
import type { AlertChannelType } from '../../web/src/alerts/api.ts'
import { searchTypes } from '../../web/src/alerts/channels/search-types.ts'
import {
  changedSettings,
  newChannelOf,
  wrongValues,
} from '../../web/src/alerts/channels/setting-values.ts'
import { ALERT_KINDS } from '../../web/src/alerts/messages.ts'

const CHAT = { hasActionLinks: true }
const PUSH = { hasActionLinks: false }
const all = Object.fromEntries(Object.keys(ALERT_KINDS).map((kind) => [kindField(kind), 'on']))

describe('the settings of a channel', () => {
  it('include every kind, also future ones, when every kind is chosen', () => {
    expect(sendingOf({ ...all, label: ' on call ' }, null, PUSH)).toEqual({
      label: 'on call',
      kinds: null,
      minSeverity: null,
      quietHours: null,
      criticalAnytime: false,
    })
  })
  it('keep a selected kind that is not shown', () => {
    expect(sendingOf({ [kindField('dns')]: 'on' }, ['dns', 'special'], PUSH).kinds).toEqual([
      'dns',
      'special',
    ])
    expect(sendingOf({}, ['dns'], PUSH).kinds).toEqual([])
  })
  it('have a severity and critical alerts in quiet hours where they are chosen', () => {
    const values = { ...all, minSeverity: 'error', criticalAnytime: 'on' }
    expect(sendingOf(values, null, PUSH)).toMatchObject({
      minSeverity: 'error',
      criticalAnytime: false,
    })
    const quiet = { ...values, quiet: 'on', from: '22:00', to: '07:00', timeZone: 'UTC' }
    expect(sendingOf(quiet, null, PUSH)).toMatchObject({ criticalAnytime: true })
  })
  it('have links for actions only where the service shows them', () => {
    expect(sendingOf({ actionLinks: 'on' }, null, CHAT).actionLinks).toBe(true)
    expect(sendingOf({}, null, CHAT).actionLinks).toBe(false)
    expect(sendingOf({ actionLinks: 'on' }, null, PUSH)).not.toHaveProperty('actionLinks')
  })
  it('have quiet hours only where they are wished for', () => {
    const hours = { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' }
    expect(sendingOf({ ...hours, quiet: 'on' }, null, PUSH).quietHours).toEqual(hours)
    expect(sendingOf(hours, null, PUSH).quietHours).toBeNull()
    expect(wrongQuietHours({ quiet: 'on', from: '', to: '07:00' })).toHaveProperty('from')
    expect(wrongQuietHours({ from: '' })).toEqual({})
  })
})

const types = presentChannelTypes() as AlertChannelType[]
const typeOf = (id: string) => types.find((type) => type.id === id) as AlertChannelType

describe('the form of a service', () => {
  it('sends its fields as settings, and those of email and webhooks beside the type', () => {
    const values = { 'settings.topic': ' alerts ', 'settings.token': '', label: 'x' }
    expect(newChannelOf(typeOf('ntfy'), values)).toMatchObject({
      type: 'ntfy',
      settings: { topic: 'alerts' },
      label: 'x',
    })
    expect(newChannelOf(typeOf('email'), { address: 'a@b.test' })).toMatchObject({
      address: 'a@b.test',
    })
  })
  it('rejects what the API would reject', () => {
    const wrong = (values: Record<string, string>) => wrongValues(typeOf('ntfy'), values)
    expect(Object.keys(wrong({}))).toEqual(['settings.server', 'settings.topic'])
    const server = { 'settings.server': 'https://ntfy.sh' }
    expect(wrong({ ...server, 'settings.topic': 'alerts' })).toEqual({})
    expect(wrong({ ...server, 'settings.topic': 'a b' })).toHaveProperty(['settings.topic'])
    expect(wrong({ ...server, 'settings.topic': 'a'.repeat(65) })).toEqual({
      'settings.topic': 'Use up to 64 characters.',
    })
  })
  it('keeps a saved secret where none is entered', () => {
    expect(wrongValues(typeOf('slack'), {}, new Set(['url']))).toEqual({})
    expect(changedSettings(typeOf('slack'), { url: '…abcd' }, { 'settings.url': '' })).toEqual({})
  })
  it('changes and removes what was entered', () => {
    const shown = { server: 'https://ntfy.sh', topic: 'alerts', token: '…' }
    const values = { 'settings.server': 'https://ntfy.sh', 'settings.topic': 'other' }
    expect(changedSettings(typeOf('ntfy'), shown, { ...values, 'remove token': 'on' })).toEqual({
      topic: 'other',
      token: '',
    })
  })
})

describe('the search for services', () => {
  it('needs each word to begin a word of name, keywords or group', () => {
    const found = (text: string) => searchTypes(types, text).map(({ id }) => id)
    expect(found('')).toHaveLength(types.length)
    expect(found('microsoft teams')).toEqual(['teams'])
    expect(found('iphone push')).toEqual(['ntfy', 'pushover'])
    expect(found('eams')).toEqual([])
  })
})
