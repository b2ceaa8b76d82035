import { createTheme, localStorageColorSchemeManager } from '@mantine/core'
import type { ButtonKind } from '../actions/button.tsx'

type Look = {
  background: string
  hover: string
  color: string
  hoverColor?: string
  border: string
}

const LOOKS: Record<ButtonKind, Look> = {
  primary: {
    background: 'var(--accent)',
    hover: 'var(--accent-strong)',
    color: 'var(--on-accent)',
    border: '1px solid transparent',
  },
  plain: {
    background: 'var(--surface)',
    hover: 'var(--hover)',
    color: 'var(--ink)',
    border: '1px solid var(--line-strong)',
  },
  quiet: {
    background: 'transparent',
    hover: 'var(--hover)',
    color: 'var(--ink-soft)',
    border: '1px solid transparent',
  },
  danger: {
    background: 'var(--surface)',
    hover: 'var(--bad-wash)',
    color: 'var(--bad)',
    border: '1px solid var(--bad)',
  },
}

export const theme = createTheme({
  defaultRadius: 'var(--radius-small)',
  respectReducedMotion: true,
  // Mantine's own variants would need its palette, which is not there.
  variantColorResolver: ({ variant }) => LOOKS[variant as ButtonKind] ?? LOOKS.plain,
})

/** Saves the theme where public/theme.js reads it before the first paint. */
export const colorSchemeManager = localStorageColorSchemeManager({ key: 'portreeve-theme' })
