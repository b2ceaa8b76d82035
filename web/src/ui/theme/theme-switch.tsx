import { SegmentedControl, useMantineColorScheme, type MantineColorScheme } from '@mantine/core'
import { Icon, type IconName } from '../brand/icons.tsx'
import { VisuallyHidden } from '../text/visually-hidden.tsx'
import classes from './theme-switch.module.css'

const CHOICES: { value: MantineColorScheme; word: string; icon: IconName }[] = [
  { value: 'light', word: 'Light', icon: 'sun' },
  { value: 'dark', word: 'Dark', icon: 'moon' },
  { value: 'auto', word: 'Like the system', icon: 'system' },
]

/** Light, dark, or what the system says; kept in this browser. */
export function ThemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true })
  return (
    <SegmentedControl
      aria-label="Theme"
      classNames={classes}
      value={colorScheme}
      onChange={(value) => setColorScheme(value)}
      data={CHOICES.map(({ value, word, icon }) => ({
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
