import type { Tone } from '../content/digest-document.ts'
import { Html } from '../../http/markup.ts'

// The dashboard’s colors (web/src/ui/theme/tokens.css), as sRGB: mail clients know no others.

export const FONT = "-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"

export const COLORS = {
  page: '#f5f8f9',
  surface: '#ffffff',
  line: '#dbe2e5',
  ink: '#16232f',
  soft: '#4d5b66',
  accent: '#055b86',
  onAccent: '#fafcfd',
  pass: '#2e8f62',
  fail: '#cf5148',
} as const

type Colors = { color: string; wash: string }

export const TONES: Record<Tone, Colors> = {
  bad: { color: '#b3231f', wash: '#fdf0ee' },
  warning: { color: '#7d4d00', wash: '#fdf3e0' },
  good: { color: '#09673c', wash: '#e9f8ee' },
  neutral: { color: '#4d5b66', wash: '#eff3f5' },
}

const DARK = {
  page: '#0c151d',
  surface: '#131e27',
  line: '#26343f',
  ink: '#e3ebef',
  soft: '#a3b1bb',
  accent: '#7cc4ea',
  onAccent: '#04202f',
  pass: '#4fb883',
  fail: '#e5786d',
} as const

const DARK_TONES: Record<Tone, Colors> = {
  bad: { color: '#ff9d92', wash: '#3a1f1d' },
  warning: { color: '#f3bd64', wash: '#32260f' },
  good: { color: '#77d8a2', wash: '#123022' },
  neutral: { color: '#a3b1bb', wash: '#1e2b35' },
}

/** Rules for dark colors. `prefix` repeats them for Outlook.com, which has no media query for it. */
function darkRules(prefix: string): string {
  const rule = (selector: string, property: string, value: string) =>
    `${prefix}${selector}{${property}:${value} !important}`
  const tones = Object.entries(DARK_TONES).flatMap(([tone, { color, wash }]) => [
    rule(`.${tone}`, 'color', color),
    rule(`.wash-${tone}`, 'background-color', wash),
    rule(`.wash-${tone}`, 'border-color', color),
  ])
  return [
    rule('.page', 'background-color', DARK.page),
    rule('.card', 'background-color', DARK.surface),
    rule('.card', 'border-color', DARK.line),
    rule('.row', 'border-color', DARK.line),
    rule('.ink', 'color', DARK.ink),
    rule('.soft', 'color', DARK.soft),
    rule('.accent', 'color', DARK.accent),
    rule('.button', 'background-color', DARK.accent),
    rule('.on-accent', 'color', DARK.onAccent),
    rule('.pass', 'background-color', DARK.pass),
    rule('.fail', 'background-color', DARK.fail),
    ...tones,
  ].join('\n')
}

export const STYLES = new Html(`
:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (max-width:480px){
.outer{padding:16px 8px !important}
.cell{padding-left:14px !important;padding-right:14px !important}
.chip,.text{display:block !important;width:auto !important;padding:0 !important}
.chip{padding-bottom:4px !important}
}
@media (prefers-color-scheme:dark){
${darkRules('')}
}
${darkRules('[data-ogsc] ')}
`)
