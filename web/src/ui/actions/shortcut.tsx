import classes from './shortcut.module.css'

/** Keys to press one after the other, such as `g h`. */
export function Shortcut({ keys }: { keys: string }) {
  return (
    <span className={classes.keys}>
      {keys.split(' ').map((key, at) => (
        <kbd key={at}>{key}</kbd>
      ))}
    </span>
  )
}

/** The name of the modifier key on this system. */
export const MODIFIER_KEY = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl'
