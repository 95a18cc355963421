// The page: a person shows images, the model says what it sees, and the person says what they are.

import { showByClass } from "./view/by_class.js";
import { showCamera } from "./view/camera.js";
import { showClassCards } from "./view/class_cards.js";
import { showMap } from "./view/class_map.js";
import { showAccuracy } from "./view/curve.js";
import { showLessons } from "./view/lessons.js";
import { begin, showModelMenu } from "./view/model_menu.js";
import { showJobs } from "./view/overlay.js";
import { showTabs } from "./view/tabs.js";
import { showTeachBar } from "./view/teach_bar.js";
import { showTest } from "./view/test_result.js";
import { showTray } from "./view/tray_view.js";
import { showWaysIn } from "./view/ways_in.js";
import { guardForgetting } from "./work/forget.js";
import { keepUp } from "./work/refresh.js";

showJobs();
showTabs();
showModelMenu();

// teach
showWaysIn();
showCamera();
showTray();
showTeachBar();
showClassCards();
showAccuracy();

// check
showTest();
showByClass();
showMap();

showLessons();

await begin();
guardForgetting();
keepUp();
document.body.dataset.ready = "yes";
