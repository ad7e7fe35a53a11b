import type { Words } from './en.ts';

export const de: Words = {
  languageName: 'Deutsch',
  unsubscribe: 'Abmelden',
  unsubscribeQuestion: 'Möchten Sie diese E-Mails nicht mehr erhalten?',
  unsubscribeListQuestion: 'Möchten Sie die E-Mails von „{list}“ nicht mehr erhalten?',
  unsubscribeAllQuestion:
    'Möchten Sie von diesem Absender keine Newsletter und Angebote mehr erhalten?',
  unsubscribeButton: 'Abmelden',
  unsubscribed: 'Sie sind abgemeldet',
  unsubscribedText: 'Sie erhalten diese E-Mails nicht mehr. Sie können diese Seite schließen.',
  unsubscribedAllText:
    'Sie erhalten von diesem Absender keine Newsletter und Angebote mehr. Sie können diese Seite schließen.',
  managePreferences: 'Alle E-Mail-Einstellungen ändern',
  confirm: 'Anmeldung bestätigen',
  confirmQuestion: 'Möchten Sie die E-Mails von „{list}“ erhalten?',
  confirmButton: 'Ja, anmelden',
  confirmed: 'Sie sind angemeldet',
  confirmedText:
    'Vielen Dank. Ab jetzt erhalten Sie die E-Mails; abmelden können Sie sich jederzeit.',
  expired: 'Dieser Link ist abgelaufen',
  expiredText:
    'Die Bestätigung kam zu spät. Bitte füllen Sie das Formular noch einmal aus, um eine neue E-Mail zu erhalten.',
  preferences: 'Ihre E-Mail-Einstellungen',
  lists: 'Welche E-Mails möchten Sie erhalten?',
  noLists: 'Es gibt nichts auszuwählen.',
  pending: 'wartet auf Ihre Bestätigung',
  blocked: 'kann an Ihre Adresse nicht zugestellt werden',
  language: 'Sprache',
  timezone: 'Zeitzone',
  notSet: 'nicht angegeben',
  save: 'Speichern',
  saved: 'Ihre Änderungen sind gespeichert.',
  leaveAll: 'Von allem abmelden',
  leftAll: 'Sie sind von allem abgemeldet.',
  subscribed: 'Vielen Dank',
  subscribedText:
    'Wenn Sie sich zum ersten Mal anmelden, erhalten Sie eine E-Mail, um Ihre Adresse zu bestätigen.',
  proof: 'Noch ein Schritt',
  proofText:
    'Bitte drücken Sie den Knopf. Ihr Browser rechnet dann kurz und zeigt so, dass kein Roboter das Formular ausgefüllt hat.',
  proofButton: 'Anmelden',
  proofScript:
    'Dafür wird JavaScript benötigt. Bitte erlauben Sie es für diese Seite und füllen Sie das Formular noch einmal aus.',
  badForm: 'Das Formular konnte nicht gesendet werden',
  badFormText: 'Bitte gehen Sie zurück und prüfen Sie Ihre E-Mail-Adresse.',
  badLink: 'Dieser Link funktioniert nicht',
  badLinkText:
    'Vielleicht wurde er abgeschnitten. Bitte öffnen Sie den ganzen Link aus der E-Mail noch einmal.',
  tryLater: 'Bitte versuchen Sie es noch einmal',
  tryLaterText:
    'Das hat gerade nicht geklappt. Bitte versuchen Sie es in einer Minute noch einmal.',
  tryAgain: 'Noch einmal versuchen',
  mailGone: 'Diese E-Mail wird nicht mehr aufbewahrt',
  mailGoneText:
    'Der Absender bewahrt E-Mails nur für begrenzte Zeit auf. In Ihrem Postfach können Sie sie weiterhin lesen.',
  previewLink: 'Das ist eine Vorschau',
  previewLinkText: 'In der E-Mail öffnet dieser Link die E-Mail im Browser.',
};
