import { describe, expect, it } from 'vitest'
import { kindField, settingsOf, wrongSettings } from '../../web/src/alerts/settings.ts'
import { ALERT_KINDS } from '../../web/src/alerts/messages.ts'

const all = Object.fromEntries(Object.keys(ALERT_KINDS).map((kind) => [kindField(kind), 'on']))

describe('the settings of a channel', () => {
  it('include every kind, also future ones, when every kind is chosen', () => {
    expect(settingsOf({ ...all, label: ' on call ' }, null)).toEqual({
      label: 'on call',
      kinds: null,
      quietHours: null,
    })
  })
  it('keep a selected kind that is not shown', () => {
    expect(settingsOf({ [kindField('dns')]: 'on' }, ['dns', 'special']).kinds).toEqual([
      'dns',
      'special',
    ])
    expect(settingsOf({}, ['dns']).kinds).toEqual([])
  })
  it('have quiet hours only where they are wished for', () => {
    const hours = { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' }
    expect(settingsOf({ ...hours, quiet: 'on' }, null).quietHours).toEqual(hours)
    expect(settingsOf(hours, null).quietHours).toBeNull()
    expect(wrongSettings({ quiet: 'on', from: '', to: '07:00' })).toHaveProperty('from')
    expect(wrongSettings({ from: '' })).toEqual({})
  })
})
