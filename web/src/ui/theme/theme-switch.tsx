import { Segments } from '../actions/segments.tsx'
import { Icon } from '../brand/icons.tsx'
import { VisuallyHidden } from '../text/visually-hidden.tsx'
import classes from './theme-switch.module.css'
import { messages } from '../messages.ts'
import { THEMES, useTheme } from './use-theme.ts'

/** Light, dark, or the system's theme. The choice is saved in this browser. */
export function ThemeSwitch() {
  const { theme, setTheme } = useTheme()
  return (
    <Segments
      label={messages.theme.label}
      round
      value={theme}
      onChange={setTheme}
      choices={THEMES.map(({ value, word, icon }) => ({
        value,
        title: word,
        name: (
          <span className={classes.choice}>
            <Icon name={icon} size={16} />
            <VisuallyHidden>{word}</VisuallyHidden>
          </span>
        ),
      }))}
    />
  )
}
