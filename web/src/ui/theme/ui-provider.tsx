import { MantineProvider } from '@mantine/core'
import type { ReactNode } from 'react'
import { colorSchemeManager, theme } from './theme.ts'

/**
 * The provider that all components of this folder need. Mantine must not write `<style>` elements,
 * which the content security policy refuses: its variables come from tokens.css, and no component
 * may get a responsive style prop.
 */
export function UiProvider({ children }: { children: ReactNode }) {
  return (
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      colorSchemeManager={colorSchemeManager}
      withCssVariables={false}
      withGlobalClasses={false}
    >
      {children}
    </MantineProvider>
  )
}
