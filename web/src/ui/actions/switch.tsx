import { VisuallyHidden } from '../text/visually-hidden.tsx'
import classes from './switch.module.css'

type SwitchProps = {
  /** What is on or off. */
  label: string
  /** The object of the label, for screen readers. */
  about?: string
  checked: boolean
  onChange: (isOn: boolean) => void
}

/** On or off, at once. */
export function Switch({ label, about, checked, onChange }: SwitchProps) {
  return (
    <label className={classes.switch}>
      <input
        type="checkbox"
        role="switch"
        checked={checked}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>
        {label} {about && <VisuallyHidden>{about}</VisuallyHidden>}
      </span>
    </label>
  )
}
