import { useEffect, useId } from 'react'
import { Icon, type IconName } from '../../ui/brand/icons.tsx'
import { VisuallyHidden } from '../../ui/text/visually-hidden.tsx'
import { theme as messages } from '../messages.ts'
import { useStoredChoice } from '../stored-choice.ts'
import classes from './theme-switch.module.css'

/** Where the dashboard saves the theme, and start.js reads it before the first paint. */
const STORAGE_KEY = 'portreeve-theme'
const CHOICES: { value: Theme; icon: IconName }[] = [
  { value: 'light', icon: 'sun' },
  { value: 'dark', icon: 'moon' },
  { value: 'auto', icon: 'system' },
]
type Theme = 'light' | 'dark' | 'auto'

/** Light, dark, or the system’s theme, shared with the dashboard. */
export function ThemeSwitch() {
  const name = useId()
  const [theme, setTheme] = useStoredChoice<Theme>(STORAGE_KEY, ['light', 'dark', 'auto'], 'auto')
  useEffect(() => {
    const system = matchMedia('(prefers-color-scheme: dark)')
    const apply = () => {
      const isDark = theme === 'dark' || (theme === 'auto' && system.matches)
      document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light'
    }
    apply()
    system.addEventListener('change', apply)
    return () => system.removeEventListener('change', apply)
  }, [theme])
  return (
    <fieldset className={classes.switch}>
      <legend>
        <VisuallyHidden>{messages.label}</VisuallyHidden>
      </legend>
      {CHOICES.map(({ value, icon }) => (
        <label key={value} title={messages[value]}>
          <input
            type="radio"
            name={name}
            checked={value === theme}
            onChange={() => setTheme(value)}
          />
          <Icon name={icon} size={16} />
          <VisuallyHidden>{messages[value]}</VisuallyHidden>
        </label>
      ))}
    </fieldset>
  )
}
