import { SegmentedControl, useMantineColorScheme, type MantineColorScheme } from '@mantine/core'
import { Icon, type IconName } from '../brand/icons.tsx'
import { VisuallyHidden } from '../text/visually-hidden.tsx'
import classes from './theme-switch.module.css'
import { messages } from '../messages.ts'

const CHOICES: { value: MantineColorScheme; word: string; icon: IconName }[] = [
  { value: 'light', word: messages.theme.light, icon: 'sun' },
  { value: 'dark', word: messages.theme.dark, icon: 'moon' },
  { value: 'auto', word: messages.theme.auto, icon: 'system' },
]

/** Light, dark, or the system's theme. The choice is saved in this browser. */
export function ThemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true })
  return (
    <SegmentedControl
      aria-label={messages.theme.label}
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
