import { SegmentedControl } from '@mantine/core'
import { Icon } from '../brand/icons.tsx'
import { VisuallyHidden } from '../text/visually-hidden.tsx'
import classes from './theme-switch.module.css'
import { messages } from '../messages.ts'
import { THEMES, useTheme } from './use-theme.ts'

/** Light, dark, or the system's theme. The choice is saved in this browser. */
export function ThemeSwitch() {
  const { theme, setTheme } = useTheme()
  return (
    <SegmentedControl
      aria-label={messages.theme.label}
      classNames={classes}
      value={theme}
      onChange={(value) => setTheme(value)}
      data={THEMES.map(({ value, word, icon }) => ({
        value,
        label: (
          <span className={classes.choice} title={word}>
            <Icon name={icon} size={16} />
            <VisuallyHidden>{word}</VisuallyHidden>
          </span>
        ),
      }))}
    />
  )
}
